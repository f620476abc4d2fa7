module bellfoundry

go 1.26
