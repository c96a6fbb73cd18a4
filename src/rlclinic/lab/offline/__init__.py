"""Learning from recorded steps: data sets made by command, and offline trainers as a backend of the lab."""
