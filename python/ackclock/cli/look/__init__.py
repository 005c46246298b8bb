"""Commands that look at what there is: catalogue, figures, stored runs, the lab, schemas."""
