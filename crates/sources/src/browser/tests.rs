mod calls;
mod devices;
mod house;
mod offers;
