"""Tables shared by all: names of metrics and hyperparameters per framework, defaults, canonical names."""
