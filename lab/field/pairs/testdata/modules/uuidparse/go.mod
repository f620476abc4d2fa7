module uuidparse

go 1.26

require github.com/gofrs/uuid v4.3.1+incompatible
