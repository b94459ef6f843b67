"""Tables, figures and the page of the experiments, from the lines of their results."""
