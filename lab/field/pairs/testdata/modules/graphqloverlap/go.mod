module graphqloverlap

go 1.26

require github.com/graph-gophers/graphql-go v1.5.0
