module subtitledesk

go 1.26
