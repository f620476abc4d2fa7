module loassign

go 1.26

require github.com/samber/lo v1.39.0

require golang.org/x/exp v0.0.0-20220303212507-bbda1eaf7a17 // indirect
