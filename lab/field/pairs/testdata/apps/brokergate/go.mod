module brokergate

go 1.26
