module outboxrelay

go 1.26
