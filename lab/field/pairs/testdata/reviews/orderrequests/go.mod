module orderrequests

go 1.26
