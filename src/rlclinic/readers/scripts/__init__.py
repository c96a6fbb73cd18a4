"""Training scripts, read as text for the settings that they name: parsed, never imported or run."""
