"""TensorBoard event files: framing, checksums, protobuf, columns."""
