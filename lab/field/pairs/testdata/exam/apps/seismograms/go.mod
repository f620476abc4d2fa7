module seismograms

go 1.24
