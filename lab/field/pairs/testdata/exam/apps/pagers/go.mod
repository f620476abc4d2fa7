module pagers

go 1.26
