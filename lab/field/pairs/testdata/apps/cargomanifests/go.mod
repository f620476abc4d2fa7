module cargomanifests

go 1.26
