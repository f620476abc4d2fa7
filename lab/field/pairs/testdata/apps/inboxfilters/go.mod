module inboxfilters

go 1.26
