/* Modules: parameters have any value of their type when a module is loaded. What is loaded, and what is registered there, gets
   names that the script knows: model_parameter_*, model_init, model_exit. */
#ifndef MODEL_MODULE_H
#define MODEL_MODULE_H
#include <model/base.h>

#define KBUILD_MODNAME "module"
#define MODULE_AUTHOR(text)
#define MODULE_DESCRIPTION(text)
#define MODULE_LICENSE(text)
#define MODULE_VERSION(text)
#define MODULE_ALIAS(text)
#define MODULE_ALIAS_MISCDEV(minor)
#define MODULE_DEVICE_TABLE(type, name)
#define MODULE_PARM_DESC(name, text)
#define MODEL_TEXT(x) #x
#define __MODULE_STRING(x) MODEL_TEXT(x)
#define __stringify(x) MODEL_TEXT(x)

#define module_param_named(name, variable, type, permissions) \
    void model_parameter_##name(void) { variable = __VERIFIER_nondet_long(); }
#define module_param(name, type, permissions) module_param_named(name, name, type, permissions)
#define module_param_hw(name, type, hardware, permissions) module_param_named(name, name, type, permissions)
#define module_init(function) int model_init(void) { return function(); }
#define module_exit(function) void model_exit(void) { function(); }

#endif
