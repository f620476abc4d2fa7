module antsrelease

go 1.26

require github.com/panjf2000/ants/v2 v2.7.5
