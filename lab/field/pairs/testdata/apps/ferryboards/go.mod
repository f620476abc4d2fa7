module ferryboards

go 1.26
