module quayevents

go 1.26
