"""Facts and findings in, the verdict, the order of onset and the decision path out."""
