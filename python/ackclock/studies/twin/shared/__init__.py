"""What several laws share."""
