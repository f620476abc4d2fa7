module orgcharts

go 1.26
