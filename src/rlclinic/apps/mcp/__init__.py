"""The MCP server: what coding agents ask of runs, configs and training. A thin skin over the library."""
