module graphstages

go 1.26

require github.com/dominikbraun/graph v0.22.0
