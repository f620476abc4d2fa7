module vaccinedesk

go 1.26
