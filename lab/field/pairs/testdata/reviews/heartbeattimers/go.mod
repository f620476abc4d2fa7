module heartbeattimers

go 1.26
