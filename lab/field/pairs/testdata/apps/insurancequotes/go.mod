module insurancequotes

go 1.26
