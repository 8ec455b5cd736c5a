module github.com/keyheat/keyheat

go 1.26
