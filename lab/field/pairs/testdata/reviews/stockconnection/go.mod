module stockconnection

go 1.26
