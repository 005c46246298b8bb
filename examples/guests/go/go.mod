module example.org/ackclock/guest

go 1.21
