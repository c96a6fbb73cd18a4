"""What coding agents are taught: a skill, agent definitions and the entry of the MCP server, for a user's project."""
