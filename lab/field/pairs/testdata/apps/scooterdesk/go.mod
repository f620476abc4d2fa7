module scooterdesk

go 1.26
