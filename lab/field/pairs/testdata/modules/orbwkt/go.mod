module orbwkt

go 1.26

require github.com/paulmach/orb v0.10.0
