"""Rules on what no setting explains: signs that the trainer itself computes something wrong."""
