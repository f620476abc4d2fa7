module transferdesk

go 1.26
