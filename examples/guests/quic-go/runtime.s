// Bodies of functions are in the runtime: see runtime/virtual.go.
