module tidegauge

go 1.26
