"""Files of transfers that wait for others: connection matrices of htsim and schedules in GOAL."""
