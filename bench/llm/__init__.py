"""Real language-model training at toy size: TRL's own trainers, with and without planted faults."""
