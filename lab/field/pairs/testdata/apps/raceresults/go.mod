module raceresults

go 1.26
