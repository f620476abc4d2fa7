module searchdeadlines

go 1.26
