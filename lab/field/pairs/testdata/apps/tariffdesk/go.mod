module tariffdesk

go 1.26
