module insurerdesk

go 1.26
