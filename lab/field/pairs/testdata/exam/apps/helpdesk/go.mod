module helpdesk

go 1.25
