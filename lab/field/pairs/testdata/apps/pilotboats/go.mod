module pilotboats

go 1.26
