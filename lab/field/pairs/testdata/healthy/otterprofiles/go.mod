module otterprofiles

go 1.26

require github.com/maypok86/otter/v2 v2.4.0
