module platefeeds

go 1.26
