"""W&B transaction logs: framing, protobuf, history as columns."""
