"""Values in, text out. One file per format; nothing here reads a file or knows a reader."""
