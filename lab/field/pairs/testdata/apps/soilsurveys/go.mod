module soilsurveys

go 1.26
