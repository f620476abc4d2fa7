module switchvault

go 1.26
