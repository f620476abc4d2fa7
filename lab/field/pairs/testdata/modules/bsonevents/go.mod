module bsonevents

go 1.26

require go.mongodb.org/mongo-driver v1.12.0
