module metertunnel

go 1.26
